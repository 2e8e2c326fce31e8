import OperationCore
import Synchronization

/// A network that a test switches on, as a condition of runs.
final class NetworkSwitch: OperationRunSpecification, Sendable {
  private struct State: Sendable {
    var isOn = false
    var handlers: [Int: @Sendable () -> Void] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())

  var observerCount: Int { self.state.withLock { $0.handlers.count } }

  func turnOn() {
    let handlers = self.state.withLock { state in
      state.isOn = true
      return state.handlers.sorted { $0.key < $1.key }.map(\.value)
    }
    for handler in handlers { handler() }
  }

  func turnOff() {
    self.state.withLock { $0.isOn = false }
  }

  /// Reports a change.
  func change() {
    for handler in self.state.withLock({ $0.handlers.sorted { $0.key < $1.key }.map(\.value) }) { handler() }
  }

  func isSatisfied(in context: OperationContext) -> Bool { self.state.withLock { $0.isOn } }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    let id = self.state.withLock { state in
      state.lastID += 1
      state.handlers[state.lastID] = onChange
      return state.lastID
    }
    return OperationSubscription { _ = self.state.withLock { $0.handlers.removeValue(forKey: id) } }
  }
}
