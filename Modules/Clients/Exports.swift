// Those who import clients see their stores.
@_exported public import OperationStores
