#if DEBUG
  internal import OperationCore
  internal import Synchronization

  /// Reports paths of mutations' effects that cannot be those of the client's stores, such as the default path of a type.
  ///
  /// Nothing is wrong with a path where no store is yet. But where stores are that begin with other elements only, both were
  /// probably meant to be the same.
  final class UnmatchedPaths: Sendable {
    private static let maximumReports = 100

    private let reported = Mutex<Set<String>>([])

    /// Reports the path, once for each client, if stores of queries are there and none begins with its first element.
    ///
    /// - Parameters:
    ///   - path: The path of the effect.
    ///   - effect: What the mutation does there: "invalidates".
    ///   - mutation: The name of the mutation; nil if it is unknown.
    ///   - client: The client of the call.
    static func check(_ path: OperationPath, as effect: String, by mutation: String?, in client: OperationClient) {
      guard let element = path.first else { return }
      let first = OperationPath([element])
      guard client.stores(matching: first).isEmpty else { return }
      guard let query = client.stores().first(where: { !($0.stateWithoutLayers is any MutationStateProtocol) }) else {
        return
      }
      let text = "\(mutation ?? "A mutation") \(effect) \(ShownText.of(path))"
      guard client.attachment({ UnmatchedPaths() }).isNew(text) else { return }
      OperationWarning(
        code: .pathMatchesNoStore,
        severity: .hint,
        message: """
          \(text), but no path of a store begins with \(ShownText.of(first)). There is a store at \(ShownText.of(query.path)). If it \
          was meant, begin both paths with the same elements: the query's by its `path`.
          """
      ).report()
    }

    private func isNew(_ text: String) -> Bool {
      self.reported.withLock { $0.count < Self.maximumReports && $0.insert(text).inserted }
    }
  }
#endif
