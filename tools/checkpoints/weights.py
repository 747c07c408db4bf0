"""Weights that look random and are a function of a tensor's name alone, exact in F32, F16 and BF16.

test/support/checkpoints/hashed-weights.ts makes the same numbers, so that no checkpoint has to be stored.
"""
import numpy as np

MASK = np.uint64(0xFFFFFFFF)


def fnv1a(name):
    value = 0x811C9DC5
    for byte in name.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def hashed(name, count):
    """Whole numbers from -128 to 127."""
    h = (np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B1) + np.uint64(fnv1a(name))) & MASK
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h ^= h >> np.uint64(shift)
        h = (h * np.uint64(factor)) & MASK
    h ^= h >> np.uint64(16)
    return (h >> np.uint64(24)).astype(np.int64) - 128


def tensor(name, shape, norms_around):
    """`norms_around`: 1, or 0 where the architecture adds the one itself."""
    v = hashed(name, int(np.prod(shape))).reshape(shape).astype(np.float64)
    if name.endswith("norm.weight"):
        return norms_around + np.floor(v / 4) / 128
    if name == "model.embed_tokens.weight":
        return v / 64
    if name == "lm_head.weight":
        return v / 256
    return v / 512
