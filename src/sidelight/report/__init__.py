"""Tables and figures made from finished results."""
