public import OperationCore

extension OperationContext {
  /// The arguments of the mutation that is running with this context; nil when none of that type is.
  ///
  /// For modifiers and handlers that want to look at them.
  public func mutationArguments<Arguments: Sendable>(as type: Arguments.Type = Arguments.self) -> Arguments? {
    if let arguments = self[MutationArgumentsKey<Arguments>.self] { return arguments }
    // Nothing has to be brought where there is nothing to say.
    return Arguments.self == Void.self ? () as? Arguments : nil
  }

  /// This context, or an empty one, for a call with `arguments`.
  static func calling<Arguments: Sendable>(with arguments: Arguments, in context: OperationContext?) -> Self {
    var context = context ?? OperationContext()
    context[MutationArgumentsKey<Arguments>.self] = arguments
    return context
  }
}

private enum MutationArgumentsKey<Arguments: Sendable>: OperationContext.Key {
  static var defaultValue: Arguments? { nil }
}
