import Foundation
import Operation
import OperationHTTP
import Synchronization

/// Reports whether the server answers, as an observer of the network reports whether there is a network.
///
/// It sends a request ten times a second. The network of this story is the server alone, which is stopped and started.
final class ServerObserver: NetworkObserver, Sendable {
  private struct State {
    var status = NetworkConnectionStatus.disconnected
    var handlers: [Int: @Sendable (NetworkConnectionStatus) -> Void] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())
  private let asking = Mutex<Task<Void, Never>?>(nil)

  init(address: URL) {
    let request = OperationHTTPRequest(address.appending(path: "notes"))
    let task = Task.detached { [weak self] in
      while !Task.isCancelled {
        let isThere = (try? await URLSessionTransport.shared.send(request)) != nil
        self?.note(isThere ? .connected : .disconnected)
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    self.asking.withLock { $0 = task }
  }

  deinit {
    self.asking.withLock { $0 }?.cancel()
  }

  var currentStatus: NetworkConnectionStatus { self.state.withLock { $0.status } }

  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    let id = self.state.withLock { state in
      state.lastID += 1
      state.handlers[state.lastID] = handler
      return state.lastID
    }
    // Called without the lock, so the status may change meanwhile: the handler receives the newest one last.
    var status: NetworkConnectionStatus
    repeat {
      status = self.currentStatus
      handler(status)
    } while self.currentStatus != status
    return OperationSubscription { [weak self] in
      _ = self?.state.withLock { $0.handlers.removeValue(forKey: id) }
    }
  }

  private func note(_ status: NetworkConnectionStatus) {
    let handlers = self.state.withLock { state -> [@Sendable (NetworkConnectionStatus) -> Void] in
      guard state.status != status else { return [] }
      state.status = status
      return state.handlers.sorted { $0.key < $1.key }.map(\.value)
    }
    for handler in handlers { handler(status) }
  }
}
