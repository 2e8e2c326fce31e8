/// The identifier and the configuration of a task.
public struct OperationTaskInfo: Identifiable, Sendable {
  /// The identifier of the task.
  public let id: OperationTaskIdentifier

  /// The configuration of the task.
  public var configuration: OperationTaskConfiguration
}
