/// Something that a run waits for: a condition, a permit, its turn, the run of another store.
public struct StoreWait: Sendable, Identifiable {
  /// Identifies the wait among those of the process that have not ended.
  public let id: UInt64

  /// Returns the text that follows "it waits for", without user data besides paths. Called with no lock held.
  ///
  /// The text of a pause follows "it waits until".
  public let subject: @Sendable () -> String

  /// Whether it is a pause: a wait for a condition.
  public let isPause: Bool

  /// The path of the store whose run it waits for; nil for something else.
  public let path: OperationPath?

  /// The elapsed time of the run's deadlines when it began to wait.
  ///
  /// Nil for a call of the run's work that began in a run whose waits were not observed.
  public let start: Duration?
}

extension StoreWait {
  init(_ pause: RunPause) {
    self.init(id: pause.id, subject: { pause.reason }, isPause: true, path: nil, start: pause.start)
  }

  init(_ number: UInt64, _ note: RunWaitNote) {
    self.init(id: number, subject: note.subject, isPause: false, path: note.path, start: note.start)
  }

  /// The wait for a node that the work of a run has called; nil for a node without a name.
  init?(called node: any WaitNode) {
    guard let name = node.waitName else { return nil }
    let path = node.storePath
    // The addresses of objects are greater than the numbers of noted waits.
    let id = UInt64(UInt(bitPattern: ObjectIdentifier(node)))
    let text = name + (path.map { " at \(ShownText.of($0))" } ?? "")
    self.init(id: id, subject: { text }, isPause: false, path: path, start: nil)
  }
}
