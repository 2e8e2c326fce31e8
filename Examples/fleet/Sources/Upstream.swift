import Synchronization

/// The server that the service stands in front of: it knows the version of each article, and counts requests.
final class Upstream: Sendable {
  private struct State: Sendable {
    var versions: [Int: Int] = [:]
    /// The version of the articles that were not edited one by one.
    var commonVersion = 1
    var counts: [Int: Int] = [:]
    /// The articles that each process has asked for since the last count, as often as it has.
    var requests: [String: [Int]] = [:]
    /// How many requests are still to come, and what is done then.
    var awaited: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    /// The articles whose requests wait, and those that wait.
    var held: Set<Int> = []
    var waiting: [Int: [@Sendable (Int) -> Void]] = [:]
    var arrivals: [Int: CheckedContinuation<Void, Never>] = [:]

    func version(of id: Int) -> Int { self.versions[id] ?? self.commonVersion }
  }

  private let state = Mutex(State())

  /// How many requests there were for an article.
  func count(of id: Int) -> Int { self.state.withLock { $0.counts[id] ?? 0 } }

  /// Answers a request of a process, at once or when the article is no longer held.
  func receive(_ id: Int, from name: String, _ answer: @escaping @Sendable (Int) -> Void) {
    let (version, arrival) = self.state.withLock { state -> (Int?, CheckedContinuation<Void, Never>?) in
      state.counts[id, default: 0] += 1
      state.requests[name, default: []].append(id)
      if state.held.contains(id) {
        state.waiting[id, default: []].append(answer)
        return (nil, state.arrivals.removeValue(forKey: id))
      }
      state.awaited?.count -= 1
      let isLast = state.awaited?.count == 0
      return (state.version(of: id), isLast ? state.awaited.take()?.continuation : nil)
    }
    arrival?.resume()
    if let version { answer(version) }
  }

  /// Changes an article, and returns its version.
  func edit(_ id: Int) -> Int {
    self.state.withLock { state in
      let version = state.version(of: id) + 1
      state.versions[id] = version
      return version
    }
  }

  /// Changes all articles, and returns their version.
  func editAll() -> Int {
    self.state.withLock { state in
      state.commonVersion += 1
      return state.commonVersion
    }
  }

  /// The articles that each process has asked for since the last call, as often as it has.
  func takeRequests() -> [String: [Int]] {
    self.state.withLock { state in
      defer { state.requests = [:] }
      return state.requests
    }
  }

  /// Returns when so many requests more have come.
  func requests(_ count: Int) async {
    await withCheckedContinuation { continuation in
      self.state.withLock { $0.awaited = (count, continuation) }
    }
  }

  /// Lets requests for an article wait from now on.
  func hold(_ id: Int) {
    self.state.withLock { _ = $0.held.insert(id) }
  }

  /// Returns when a request for an article that is held waits.
  func arrival(of id: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = self.state.withLock { state in
        if state.waiting[id]?.isEmpty == false { return true }
        state.arrivals[id] = continuation
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Answers the requests that wait.
  func release(_ id: Int) {
    let (waiting, version) = self.state.withLock { state in
      state.held.remove(id)
      return (state.waiting.removeValue(forKey: id) ?? [], state.version(of: id))
    }
    for answer in waiting { answer(version) }
  }
}
