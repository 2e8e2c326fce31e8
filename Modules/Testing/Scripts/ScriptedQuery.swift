public import OperationCore

/// A query that a script controls.
public struct ScriptedQuery<Value: Sendable, Failure: Error>: QueryRequest {
  /// The script.
  public let script: OperationScript<Value, Failure>

  /// The path of the query.
  public let path: OperationPath

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - script: The script.
  ///   - path: The path; nil for a path unique to the script.
  public init(_ script: OperationScript<Value, Failure>, path: OperationPath? = nil) {
    self.script = script
    self.path = path ?? ["ScriptedQuery", ObjectIdentifier(script)]
  }

  /// Counts the setup in the script.
  public func setup(context: inout OperationContext) {
    self.script.noteSetup()
  }

  /// Performs a run of the script.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.script.run(in: context, with: continuation)
  }
}

/// An operation without stored state that a script controls.
public struct ScriptedOperation<Value: Sendable, Failure: Error>: OperationRequest, Sendable {
  /// The script.
  public let script: OperationScript<Value, Failure>

  /// Creates an operation.
  public init(_ script: OperationScript<Value, Failure>) {
    self.script = script
  }

  /// Counts the setup in the script.
  public func setup(context: inout OperationContext) {
    self.script.noteSetup()
  }

  /// Performs a run of the script.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.script.run(in: context, with: continuation)
  }
}

extension OperationScript {
  /// Makes a query that this script controls.
  ///
  /// - Parameter path: The path; nil for a path unique to the script.
  /// - Returns: The query.
  public func query(path: OperationPath? = nil) -> ScriptedQuery<Value, Failure> {
    ScriptedQuery(self, path: path)
  }

  /// Returns an operation without stored state that this script controls.
  public func operation() -> ScriptedOperation<Value, Failure> {
    ScriptedOperation(self)
  }
}
