/// The deadlines that were overdue together after a sleep of the machine, which fire over a second.
///
/// At once, a thousand polls would fail together at a network that is not back yet, and reach a server together.
struct DeadlineBacklog: Sendable {
  /// How late a deadline is that counts as overdue. A busy machine is rarely that late.
  private static let lateness = Duration.seconds(1)

  /// The number of overdue deadlines that fire at once.
  private static let portionSize = 100

  private static let portionCount = 20
  private static let pause = Duration.milliseconds(50)

  private var deadlines: ArraySlice<Deadline> = []
  private var portion = 0

  /// When the next portion fires; nil while the backlog is empty.
  private(set) var next: ContinuousClock.Instant?

  /// The number of deadlines that were not cancelled.
  var count: Int { self.deadlines.count { $0.action != nil } }

  /// Keeps back overdue deadlines of those that are due, if they are many, and adds those whose time has come.
  ///
  /// - Parameters:
  ///   - due: The deadlines that are due, the earliest first.
  ///   - now: The current instant.
  mutating func spread(_ due: inout [Deadline], now: ContinuousClock.Instant) {
    let lateCount = due.firstIndex { $0.instant.advanced(by: Self.lateness) > now } ?? due.count
    if lateCount > Self.portionSize {
      self.deadlines = self.deadlines + due.prefix(lateCount)
      due.removeFirst(lateCount)
      self.portion = max(Self.portionSize / 2, (self.deadlines.count + Self.portionCount - 1) / Self.portionCount)
      self.next = self.next ?? now
    }
    guard let next = self.next, next <= now else { return }
    due.insert(contentsOf: self.deadlines.prefix(self.portion), at: 0)
    self.deadlines = self.deadlines.dropFirst(self.portion)
    if self.deadlines.isEmpty { self.deadlines = [] }
    self.next = self.deadlines.isEmpty ? nil : now.advanced(by: Self.pause)
  }
}
