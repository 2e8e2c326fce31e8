// What Core is made of: to import it is to have all of that. The tools are for the modules of this package.
@_exported public import OperationClients
@_exported public import OperationPaths
@_exported public import OperationStores
@_exported public import OperationTools
