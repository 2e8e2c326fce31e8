import Foundation
import Operation

/// What the agent is for.
struct Service: Sendable {
  let endpoint: Endpoint
  let client: OperationClient
  let account: Account

  func start(polling interval: Duration) async -> OperationSubscription {
    let evictions = self.tellEvictions()
    // Looked at once and then left alone: what the agent can do without.
    for number in 1...3 {
      let report = self.client.store(for: Lines(name: "reports/\(number)", endpoint: self.endpoint))
      self.account.say(.store, (try? await report.fetch()).map { "\($0) is there" } ?? "no report \(number) yet")
    }
    return .combined(
      evictions,
      self.follow(.settings, self.settings),
      self.follow(.heartbeat, self.heartbeat(interval))
    )
  }

  /// Reread whenever it may have grown old: when the network is back, and after a stop. The client sees to that.
  private var settings: OperationStore<QueryState<String?, any Error>> {
    self.client.store(for: Lines(name: "settings", endpoint: self.endpoint).stale(after: .milliseconds(500)))
  }

  /// Polled, but not while the network is away.
  private func heartbeat(_ interval: Duration) -> OperationStore<QueryState<String?, any Error>> {
    let query = Lines(name: "heartbeat", endpoint: self.endpoint).rerun(every: interval).retry(limit: 0)
    guard let network = OperationClient.defaultNetworkObserver else { return self.client.store(for: query) }
    return self.client.store(for: query.enableAutomaticRunning(onlyWhen: .connected(to: network)))
  }

  private func follow(
    _ voice: Account.Voice,
    _ store: OperationStore<QueryState<String?, any Error>>
  ) -> OperationSubscription {
    store.subscribe(
      with: QueryEventHandler(
        onFetchingStarted: { [account] _ in account.say(voice, "runs") },
        onResultReceived: { [account] result, _ in
          switch result {
          case .success(let text): account.say(voice, text ?? "nothing")
          case .failure(let error): account.say(voice, "failed: \(error.localizedDescription)")
          }
        }
      )
    )
  }

  private func tellEvictions() -> OperationSubscription {
    self.client.subscribe(matching: ["reports"]) { [account] change in
      for store in change.storesRemoved { account.say(.store, "\(store.path) is evicted") }
    }
  }
}
