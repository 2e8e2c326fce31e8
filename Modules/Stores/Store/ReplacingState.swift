/// A state in which a result replaces the result before it: only the last result and the number of results matter.
protocol ReplacingState: OperationState {}

extension QueryState: ReplacingState {}

extension DefaultOperationState: ReplacingState where Base: ReplacingState {}

/// A state made of parts, in which a result of a run replaces an earlier result of that run for the same part.
///
/// Conform your own state if its runs yield many results, such as a page each. The store keeps the results of a run
/// until the run ends, so that it can undo other runs. It drops results that were replaced.
public protocol PartwiseReplacingState: OperationState, Sendable {
  /// Returns the part for which a run with this context reports results; nil when they do not replace each other.
  static func replacedPart(in context: OperationContext) -> Int?
}

extension DefaultOperationState: PartwiseReplacingState where Base: PartwiseReplacingState {
  public static func replacedPart(in context: OperationContext) -> Int? { Base.replacedPart(in: context) }
}
