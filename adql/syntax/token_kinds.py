"""The kinds of tokens that are neither reserved words nor operators, which are kinds of their own."""

WORD = "word"  # a regular identifier
NAME = "name"  # a delimited identifier
NUMBER = "number"
STRING = "string"
COMMENT = "comment"
END = "end"
