"""Embeddings at 32, 8, 4, 2 and 1 bits a coordinate: encode, decode, score, coarse sign bits, and the error's σ."""

from .arrays import BIT_WIDTHS
from .lloyd_max import ScalarQuantizer, lloyd_max
from .packing import pack, unpack
from .quantize import Codes, decode, encode, recode
from .rotation import ROTATION_SEED, Rotation, rotation_of
from .scoring import score, score_mixed
from .signs import hamming, sign_bits, sign_bits_of
from .uncertainty import estimate_sigma, expected_cosine

__all__ = [
    "BIT_WIDTHS",
    "ROTATION_SEED",
    "Codes",
    "Rotation",
    "ScalarQuantizer",
    "decode",
    "encode",
    "estimate_sigma",
    "expected_cosine",
    "hamming",
    "lloyd_max",
    "pack",
    "recode",
    "rotation_of",
    "score",
    "score_mixed",
    "sign_bits",
    "sign_bits_of",
    "unpack",
]
