internal import OperationCore

/// The runs that wait, in a line for each level of criticality.
struct WaiterLines: Sendable {
  private struct Line: Sendable {
    var list = LimitWaiterList()
    /// The time since which the line has not been empty.
    var busySince = Duration.zero
    /// Nil unless the order rejects runs of a line that stands.
    var delay: ControlledDelay?

    /// Takes the next run by the rule of controlled delay.
    mutating func popDelayed(at now: Duration, dropping dropped: inout [LimitWaiter]) -> LimitWaiter? {
      self.delay?.next(at: now, from: &self.list, dropping: &dropped)
    }
  }

  private var lines: [Line]
  private(set) var order: LimitOrder
  private(set) var count = 0

  init(order: LimitOrder = .firstComeFirstServed) {
    self.order = order
    self.lines = OperationCriticality.allCases.map { _ in Line() }
    self.setOrder(order)
  }

  /// Changes the order. The runs that wait stay, with their longest waits, and the delays are observed anew.
  mutating func setOrder(_ order: LimitOrder) {
    self.order = order
    for index in self.lines.indices {
      if case .controlledDelay(let target, let interval) = order.rule {
        self.lines[index].delay = ControlledDelay(target: target, interval: interval)
      } else {
        self.lines[index].delay = nil
      }
    }
  }

  /// The first run of the line that matters most.
  var first: LimitWaiter? { self.count == 0 ? nil : self.lines.last { $0.list.first != nil }?.list.first }

  /// The number of runs that wait and matter at least as much.
  func count(from criticality: OperationCriticality) -> Int {
    self.lines[Int(criticality.rawValue)...].reduce(0) { $0 + $1.list.count }
  }

  /// Adds a run. The order may bound how long it waits.
  mutating func append(_ waiter: LimitWaiter, at now: Duration) {
    let index = Int(waiter.criticality.rawValue)
    if self.lines[index].list.first == nil {
      self.lines[index].busySince = now
      // However it was emptied: by turns, by cancellations, or by longest waits.
      self.lines[index].delay?.noteEmptyLine()
    }
    if case .boundedDelay(let target, let interval) = self.order.rule {
      waiter.bound(until: now + (now - self.lines[index].busySince >= interval ? target : interval))
    }
    waiter.arrival = now
    self.lines[index].list.append(waiter)
    self.count += 1
  }

  /// Removes a run. Returns false if it does not wait here.
  @discardableResult
  mutating func remove(_ waiter: LimitWaiter) -> Bool {
    guard self.lines[Int(waiter.criticality.rawValue)].list.remove(waiter) else { return false }
    self.count -= 1
    return true
  }

  /// Takes the run that begins next, and the runs that have waited in vain.
  ///
  /// - Parameters:
  ///   - now: The elapsed time.
  ///   - dropped: Receives the runs that have waited in vain.
  /// - Returns: The run; nil if none waits.
  mutating func popNext(at now: Duration, dropping dropped: inout [LimitWaiter]) -> LimitWaiter? {
    guard self.count > 0, let index = self.lines.lastIndex(where: { $0.list.first != nil }) else { return nil }
    let next: LimitWaiter?
    if self.lines[index].delay != nil {
      let earlier = dropped.count
      next = self.lines[index].popDelayed(at: now, dropping: &dropped)
      self.count -= dropped.count - earlier
    } else if self.stands(self.lines[index], at: now) {
      next = self.lines[index].list.popLast()
    } else {
      next = self.lines[index].list.popFirst()
    }
    if next != nil { self.count -= 1 }
    return next
  }

  /// The run that gives its place to a new one where all places are taken; nil if the new one is rejected.
  func victim(for waiter: LimitWaiter, at now: Duration) -> LimitWaiter? {
    guard let line = self.lines.first(where: { $0.list.first != nil }), let last = line.list.last else { return nil }
    if last.criticality < waiter.criticality { return last }
    return last.criticality == waiter.criticality && self.stands(line, at: now) ? line.list.first : nil
  }

  /// The newest run of the line that matters least.
  var leastImportant: LimitWaiter? { self.lines.first { $0.list.first != nil }?.list.last }

  /// Whether the newest run of a line begins first.
  private func stands(_ line: Line, at now: Duration) -> Bool {
    guard case .newestFirst(let interval) = self.order.rule else { return false }
    return now - line.busySince >= interval
  }
}
