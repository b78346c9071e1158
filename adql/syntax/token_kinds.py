"""The kinds of tokens other than reserved words and operators, each of which is its own kind."""

WORD = "word"  # a regular identifier
NAME = "name"  # a delimited identifier
NUMBER = "number"
STRING = "string"
COMMENT = "comment"
END = "end"
