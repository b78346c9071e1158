"""The syntax of ADQL: lexer, parser and syntax tree."""
