import Dispatch
import OperationCore
import Synchronization

/// Elements that are registered until their subscriptions end, such as handlers, with a fault.
final class Registry<Element: Sendable>: Sendable {
  enum Fault: Hashable, Sendable {
    case none
    /// Only the first ten elements are used.
    case tenAtMost
    /// Only the latest element is kept.
    case latestOnly
    /// Cancelling one removes all.
    case removesAll
    /// Cancelling one removes none.
    case removesNone
    /// A removed element is not released.
    case leaks
    /// Elements are used with the lock held.
    case usesLocked
    /// Elements are released with the lock held.
    case releasesLocked
    /// Elements are found by their index while they come and go.
    case usesIndices
    /// Elements are used in reversed order.
    case isReversed
    /// Two threads that add elements at the same time lose one of them.
    case losesAdditions
  }

  private struct State {
    var elements: [(id: Int, element: Element)] = []
    var removed: [Element] = []
    var nextID = 0
  }

  private let fault: Fault
  private let state = Mutex(State())
  private let meeting = Meeting()

  init(_ fault: Fault) {
    self.fault = fault
  }

  func add(_ element: Element) -> OperationSubscription {
    let (id, others) = self.state.withLock { state in
      defer { state.nextID += 1 }
      return (state.nextID, state.elements)
    }
    switch self.fault {
    case .losesAdditions:
      self.meeting.meet()
      self.state.withLock { state in
        // What was removed meanwhile does not come back: nothing would remove it again.
        let left = others.filter { other in state.elements.contains { $0.id == other.id } }
        state.elements = left + [(id, element)]
      }
    case .latestOnly: self.state.withLock { $0.elements = [(id, element)] }
    default: self.state.withLock { $0.elements.append((id, element)) }
    }
    return OperationSubscription { self.remove(id) }
  }

  private func remove(_ id: Int) {
    let removed = self.state.withLock { state -> [(id: Int, element: Element)] in
      let isRemoved = { (element: (id: Int, element: Element)) in element.id == id }
      switch self.fault {
      case .removesNone: return []
      case .removesAll: state.elements = []
      case .releasesLocked: state.elements.removeAll(where: isRemoved)
      default:
        guard let index = state.elements.firstIndex(where: isRemoved) else { return [] }
        let removed = state.elements.remove(at: index)
        if self.fault == .leaks { state.removed.append(removed.element) }
        return [removed]
      }
      return []
    }
    withExtendedLifetime(removed) {}
  }

  /// Uses all elements.
  func use(_ body: (Element) -> Void) {
    switch self.fault {
    case .usesLocked:
      self.state.withLock { state in
        for (_, element) in state.elements { body(element) }
      }
    case .usesIndices:
      var index = 0
      while let element = self.state.withLock({ index < $0.elements.count ? $0.elements[index].element : nil }) {
        body(element)
        index += 1
      }
    case .tenAtMost: for (_, element) in self.elements.prefix(10) { body(element) }
    case .isReversed: for (_, element) in self.elements.reversed() { body(element) }
    default:
      for (id, element) in self.elements where self.contains(id) { body(element) }
    }
  }

  private var elements: [(id: Int, element: Element)] { self.state.withLock { $0.elements } }

  private func contains(_ id: Int) -> Bool { self.state.withLock { $0.elements.contains { $0.id == id } } }
}

/// Makes a thread wait for a second one, so that a race has its worst outcome.
final class Meeting: Sendable {
  private struct State {
    var left: Int
    var isWaiting = false
  }

  private let state: Mutex<State>
  private let second = DispatchSemaphore(value: 0)

  /// - Parameter count: How often two threads meet. Later ones go on at once.
  init(count: Int = 1) {
    self.state = Mutex(State(left: count))
  }

  func meet() {
    let isFirst = self.state.withLock { state -> Bool? in
      if state.left == 0 { return nil }
      if state.isWaiting { state.left -= 1 }
      state.isWaiting.toggle()
      return state.isWaiting
    }
    guard let isFirst else { return }
    if !isFirst {
      self.second.signal()
      return
    }
    // A thread that stays alone goes on after a moment, and the next one may wait.
    guard self.second.wait(timeout: .now() + .milliseconds(500)) == .timedOut else { return }
    let hasCome = self.state.withLock { state in
      defer { state.isWaiting = false }
      return !state.isWaiting
    }
    // The second one came in the last moment: its signal is for this thread.
    if hasCome { self.second.wait() }
  }
}
