// What Core is made of: whoever imports Core has all of it. The tools are for the modules of this package.
@_exported public import OperationClients
@_exported public import OperationPaths
@_exported public import OperationStores
@_exported public import OperationTools
