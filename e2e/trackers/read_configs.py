"""Reads files given as base64, one per line of standard input, as TorchX reads its settings; answers in JSON."""

import base64
import configparser
import io
import json
import sys


def read(content: bytes) -> object:
    config = configparser.ConfigParser()
    config.optionxform = lambda option: option
    try:
        # What open(path, "r") makes of a file in a UTF-8 locale.
        with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") as file:
            config.read_file(file)
    except (configparser.Error, UnicodeDecodeError) as error:
        return {"refused": type(error).__name__}
    sections = []
    for section in config.sections():
        try:
            sections.append([section, config.items(section)])
        except configparser.Error as error:
            sections.append([section, type(error).__name__])
    return {"sections": sections}


for line in sys.stdin:
    print(json.dumps(read(base64.b64decode(line))))
