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
    """`norms_around`: 1, or 0 where the architecture adds the one itself. Blocks and scales of MXFP4 are bytes."""
    v = hashed(name, int(np.prod(shape))).reshape(shape)
    if name.endswith("_blocks"):
        return v + 128
    if name.endswith("_scales"):
        return 119 + (v + 128) % 4
    v = v.astype(np.float64)
    # Large enough for the activation's limit to matter.
    if name.endswith("gate_up_proj_bias"):
        return v / 16
    if name.endswith("norm.weight"):
        return norms_around + np.floor(v / 4) / 128
    if name == "model.embed_tokens.weight":
        return v / 64
    if name == "lm_head.weight":
        return v / 256
    return v / 512


MXFP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def from_mxfp4(blocks, scales):
    """The numbers of blocks of 16 bytes, the lower half of a byte first, times powers of two: OCP's MX specification."""
    numbers = np.stack([MXFP4[blocks & 15], MXFP4[blocks >> 4]], axis=-1).reshape(*blocks.shape[:-1], 32)
    return (numbers * np.exp2(scales[..., None].astype(np.float64) - 127)).reshape(*scales.shape[:-1], -1)
