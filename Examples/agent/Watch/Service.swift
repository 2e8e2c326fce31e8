import Foundation
import Operation

/// The work of the agent: reports that are read once, settings that are kept fresh, and a heartbeat that is polled.
struct Service: Sendable {
  let endpoint: Endpoint
  let client: OperationClient
  let transcript: Transcript

  func start(polling interval: Duration) async -> OperationSubscription {
    let evictions = self.reportEvictions()
    // Read once and not watched, so that they are dropped when memory is short.
    for number in 1...3 {
      let report = self.client.store(for: Lines(name: "reports/\(number)", endpoint: self.endpoint))
      self.transcript.say(.store, (try? await report.fetch()).map { "\($0) is there" } ?? "no report \(number) yet")
    }
    return .combined(
      evictions,
      self.follow(.settings, self.settings),
      self.follow(.heartbeat, self.heartbeat(interval))
    )
  }

  /// The client fetches them again when they are stale: when the network is back, and after a stop.
  private var settings: OperationStore<QueryState<String?, any Error>> {
    self.client.store(for: Lines(name: "settings", endpoint: self.endpoint).stale(after: .milliseconds(500)))
  }

  /// Polled, but not while there is no network.
  private func heartbeat(_ interval: Duration) -> OperationStore<QueryState<String?, any Error>> {
    let query = Lines(name: "heartbeat", endpoint: self.endpoint).rerun(every: interval).retry(limit: 0)
    guard let network = OperationClient.defaultNetworkObserver else { return self.client.store(for: query) }
    return self.client.store(for: query.enableAutomaticRunning(onlyWhen: .connected(to: network)))
  }

  private func follow(
    _ source: Transcript.Source,
    _ store: OperationStore<QueryState<String?, any Error>>
  ) -> OperationSubscription {
    store.subscribe(
      with: QueryEventHandler(
        onFetchingStarted: { [transcript] _ in transcript.say(source, "runs") },
        onResultReceived: { [transcript] result, _ in
          switch result {
          case .success(let text): transcript.say(source, text ?? "nothing")
          case .failure(let error): transcript.say(source, "failed: \(error.localizedDescription)")
          }
        }
      )
    )
  }

  private func reportEvictions() -> OperationSubscription {
    self.client.subscribe(matching: ["reports"]) { [transcript] change in
      for store in change.storesRemoved { transcript.say(.store, "\(store.path) is evicted") }
    }
  }
}
