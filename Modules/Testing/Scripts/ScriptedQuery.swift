public import OperationCore

/// A query that does what a script says.
public struct ScriptedQuery<Value: Sendable, Failure: Error>: QueryRequest {
  /// The script.
  public let script: OperationScript<Value, Failure>

  /// The path of the query.
  public let path: OperationPath

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - script: The script.
  ///   - path: The path; nil for one that no other script has.
  public init(_ script: OperationScript<Value, Failure>, path: OperationPath? = nil) {
    self.script = script
    self.path = path ?? ["ScriptedQuery", ObjectIdentifier(script)]
  }

  /// Counts the setup in the script.
  public func setup(context: inout OperationContext) {
    self.script.noteSetup()
  }

  /// Does what the script says.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.script.run(in: context, with: continuation)
  }
}

/// An operation whose state nobody keeps, and which does what a script says.
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

  /// Does what the script says.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.script.run(in: context, with: continuation)
  }
}

extension OperationScript {
  /// A query that does what this script says.
  ///
  /// - Parameter path: The path; nil for one that no other script has.
  public func query(path: OperationPath? = nil) -> ScriptedQuery<Value, Failure> {
    ScriptedQuery(self, path: path)
  }

  /// An operation whose state nobody keeps, and which does what this script says.
  public func operation() -> ScriptedOperation<Value, Failure> {
    ScriptedOperation(self)
  }
}
