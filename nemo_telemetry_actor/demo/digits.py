# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The handwritten digits that scikit-learn ships, cut into the three parts of the job."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

CLASSES = 10
_REWARD_MODEL_IMAGES = 700
_VALIDATION_IMAGES = 300
_BRIGHTEST = 16.0


@dataclass(frozen=True)
class LabelledImages:
    """Images of 64 brightnesses in [0, 1], and the digit that each shows."""

    images: FloatArray
    labels: IntArray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Digits:
    """Three parts that share no image.

    The reward model learns from its part with labels; the policy sees only the images of its
    own; nothing is trained on the validation part.
    """

    reward_model: LabelledImages
    validation: LabelledImages
    policy: LabelledImages


def load(seed: int) -> Digits:
    """Load the 1797 images of the UCI test set, shuffled by `seed`, and cut them.

    Raises:
        ImportError: scikit-learn is not installed (the extra `demo` brings it).
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    images = (data.data[order] / _BRIGHTEST).astype(np.float64)
    labels = data.target[order].astype(np.int64)
    first, second = _REWARD_MODEL_IMAGES, _REWARD_MODEL_IMAGES + _VALIDATION_IMAGES
    return Digits(
        reward_model=LabelledImages(images[:first], labels[:first]),
        validation=LabelledImages(images[first:second], labels[first:second]),
        policy=LabelledImages(images[second:], labels[second:]),
    )


class PromptStream:
    """Endless batches of `size` images, in a new order each epoch; for one thread."""

    def __init__(self, images: FloatArray, size: int, rng: np.random.Generator) -> None:
        if not 1 <= size <= len(images):
            raise ValueError(f"a batch of {size} does not fit {len(images)} images")
        self._images = images
        self._size = size
        self._rng = rng
        self._order: IntArray = np.empty(0, dtype=np.int64)

    def __next__(self) -> FloatArray:
        if len(self._order) < self._size:
            self._order = np.concatenate([self._order, self._rng.permutation(len(self._images))])
        chosen, self._order = self._order[: self._size], self._order[self._size :]
        return self._images[chosen]
