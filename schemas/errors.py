"""Every error that ebbing raises on purpose, as one tree.

    EbbingError
    ├── InvalidInputError      what the caller gave is unusable; the text says what to change
    │   ├── TooLargeError      a text or batch is over its limit; nothing was cut, nothing was stored
    │   └── UnknownMemoryError an id that is not in the store, or not in a scope the caller may see
    ├── ConfirmationRequiredError  a destructive call that nobody has confirmed yet
    ├── StoreError             the database can't do it
    │   ├── StoreBusyError     other processes held the write lock for longer than we wait
    │   ├── StoreFullError     the disk or the database is full; nothing was changed
    │   ├── StoreReadOnlyError the file or folder can't be written
    │   ├── StoreCorruptError  the file is damaged; the text names the way out
    │   └── StoreTooNewError   the file was written by a newer ebbing
    └── ModelError             embeddings can't be computed; recall goes on without them
        ├── ModelMissingError  no model files were found
        └── ModelDamagedError  a model file is not the one whose hash we know

Foreign exceptions (apsw, onnxruntime, OSError) are turned into these at the boundary where they arise, so that
everything above `store/` and `encoding/embedder` handles one family. The texts never contain memory content.
"""


class EbbingError(Exception):
    """The root: catch this to catch everything ebbing raises on purpose."""


class InvalidInputError(EbbingError):
    """What the caller gave is unusable; the text says what to change."""


class TooLargeError(InvalidInputError):
    """A text or batch is over its limit; nothing was cut and nothing was stored."""


class UnknownMemoryError(InvalidInputError):
    """An id that is not in the store, or not in a scope the caller may see."""


class ConfirmationRequiredError(EbbingError):
    """A destructive call that nobody has confirmed yet."""


class StoreError(EbbingError):
    """The database can't do what was asked."""


class StoreBusyError(StoreError):
    """Other processes held the write lock for longer than we wait."""


class StoreFullError(StoreError):
    """The disk or the database is full; nothing was changed."""


class StoreReadOnlyError(StoreError):
    """The file or its folder can't be written."""


class StoreCorruptError(StoreError):
    """The file is damaged; the text names the way out."""


class StoreTooNewError(StoreError):
    """The file was written by a newer version of ebbing."""


class ModelError(EbbingError):
    """Embeddings can't be computed; recall goes on without them."""


class ModelMissingError(ModelError):
    """No model files were found."""


class ModelDamagedError(ModelError):
    """A model file is not the one whose hash we know."""
