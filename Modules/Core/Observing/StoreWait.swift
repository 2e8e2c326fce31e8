/// Something that a run waits for.
public struct StoreWait: Sendable, Identifiable {
  /// A number that no other wait of the process has.
  public let id: UInt64

  /// Returns the text that follows "it waits for", without user data.
  public let subject: @Sendable () -> String

  /// Whether the run waits for a condition.
  public let isPause: Bool

  /// The path of the store whose run it waits for; nil for something else.
  public let path: OperationPath?

  /// The elapsed time of the run's deadlines when it began to wait.
  public let start: Duration
}
