import Synchronization

/// The server that the service stands in front of: it knows the version of each article, and counts requests.
final class Upstream: Sendable {
  private struct State: Sendable {
    var versions: [Int: Int] = [:]
    var counts: [Int: Int] = [:]
    /// The articles whose requests wait, and those that wait.
    var held: Set<Int> = []
    var waiting: [Int: [@Sendable (Int) -> Void]] = [:]
    var arrivals: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// How many requests there were for an article.
  func count(of id: Int) -> Int { self.state.withLock { $0.counts[id] ?? 0 } }

  /// Answers a request, at once or when the article is no longer held.
  func receive(_ id: Int, _ answer: @escaping @Sendable (Int) -> Void) {
    let (version, arrival) = self.state.withLock { state -> (Int?, CheckedContinuation<Void, Never>?) in
      state.counts[id, default: 0] += 1
      if state.held.contains(id) {
        state.waiting[id, default: []].append(answer)
        return (nil, state.arrivals.removeValue(forKey: id))
      }
      return (state.versions[id] ?? 1, nil)
    }
    arrival?.resume()
    if let version { answer(version) }
  }

  /// Changes an article, and returns its version.
  func edit(_ id: Int) -> Int {
    self.state.withLock { state in
      state.versions[id] = (state.versions[id] ?? 1) + 1
      return state.versions[id] ?? 1
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
      return (state.waiting.removeValue(forKey: id) ?? [], state.versions[id] ?? 1)
    }
    for answer in waiting { answer(version) }
  }
}
