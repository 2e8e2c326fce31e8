// Those who import stores see what they are made of.
@_exported public import OperationPaths
@_exported public import OperationTools
