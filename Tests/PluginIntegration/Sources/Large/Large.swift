// Only generated code is here.
