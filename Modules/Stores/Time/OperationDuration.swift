/// A duration: the standard library's `Duration`.
public typealias OperationDuration = Duration
