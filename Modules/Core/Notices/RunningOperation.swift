/// The operation whose work the current task is part of, while somebody looks.
enum RunningOperation {
  private static let local = TaskLocal<String?>(wrappedValue: nil)

  /// The name of the operation; nil outside the work of an operation, and if nobody looked when it began.
  static var name: String? { self.local.get() }

  /// Performs the work of an operation.
  nonisolated(nonsending) static func perform<R>(
    _ name: String,
    _ work: nonisolated(nonsending) () async -> R
  ) async -> R {
    await self.local.withValue(name) { await work() }
  }
}

extension OperationRunCause {
  /// The code that runs now: the work of an operation, or a call from elsewhere.
  ///
  /// - Parameter context: The context that the code has passed, which may be that of a run; nil for none.
  /// - Returns: The cause that the context names, or else the operation or the call.
  static func ofCurrentCode(in context: OperationContext? = nil) -> Self {
    if let context {
      if context.run.taskIdentifier == nil {
        if let cause = context.run.origin?.cause { return cause }
      } else if let runtime = context.run.store?.runtime {
        return Self(.operation(runtime.operationName))
      }
    }
    return RunningOperation.name.map { Self(.operation($0)) } ?? Self(.call(taskName: Task<Never, Never>.name))
  }
}
