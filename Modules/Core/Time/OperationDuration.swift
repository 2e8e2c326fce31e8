/// A span of time: the standard library's `Duration`.
public typealias OperationDuration = Duration
