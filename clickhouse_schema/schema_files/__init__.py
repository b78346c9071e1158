"""Schema files: conversion of YAML with the keys of Felis to the model and back."""
