#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationFoundation

  /// What the list of stores shows of one.
  struct StoreRow: Hashable, Sendable {
    let id: Int
    let path: [String]
    let operation: String
    /// The kind of the state, such as `query` or `mutation`.
    let kind: String
    var status: String
    var isPaused: Bool
    var attempt: Int?
    var nextAttempt: Date?
    var attemptFailure: String?
    var error: String?
    var canBeStale: Bool
    var isStale: Bool
    var freshUntil: Date?
    var subscribers: Int
    var layers: Int
    var values: Int
    var errors: Int
    var valueDate: Date?
    var errorDate: Date?

    /// - Parameters:
    ///   - store: What was read of the store.
    ///   - id: The number of the store.
    ///   - path: The elements of its path as they are shown, if they are known from an earlier row.
    init(_ store: StoreInspection, id: Int, path: [String]? = nil) {
      let state = OpaqueOperationState(store.state)
      self.id = id
      self.path = path ?? store.path.shownElements
      self.operation = store.operationName
      self.kind = Self.kind(of: state)
      self.status =
        switch state.status {
        case .idle: store.isRestoring ? "restoring" : "idle"
        case .loading: "loading"
        case .result(.success): "success"
        case .result(.failure): "failure"
        }
      self.isPaused = state.isPaused
      self.attempt = state.attempt?.index
      self.nextAttempt = state.attempt?.nextBegins
      self.attemptFailure = state.attempt?.lastFailure.map { ShownText.of($0) }
      self.error = state.error.map { ShownText.of($0) }
      self.canBeStale = store.automaticRuns != .never
      self.isStale = store.staleness.isStale && self.canBeStale
      self.freshUntil = store.staleness.freshUntil
      self.subscribers = store.subscribers.count
      self.layers = store.layers.count
      self.values = state.valueUpdateCount
      self.errors = state.errorUpdateCount
      self.valueDate = state.valueLastUpdatedAt
      self.errorDate = state.errorLastUpdatedAt
    }

    /// The name of the state's type: `mutation` for a `MutationState<…>`.
    private static func kind(of state: OpaqueOperationState) -> String {
      let type = "\(type(of: state.base))".prefix { $0 != "<" }
      return (type.hasSuffix("State") ? type.dropLast(5) : type).lowercased()
    }
  }

  extension StoreRow {
    var json: String {
      JSONText.object { json in
        json.member("id", self.id)
        json.key("path")
        json.value(self.path)
        json.member("operation", self.operation)
        json.member("kind", self.kind)
        json.member("status", self.status)
        json.flag("paused", self.isPaused)
        json.member("attempt", self.attempt)
        json.member("nextAttempt", self.nextAttempt)
        json.member("attemptFailure", self.attemptFailure)
        json.member("error", self.error)
        json.flag("canBeStale", self.canBeStale)
        json.flag("stale", self.isStale)
        json.member("freshUntil", self.freshUntil)
        json.member("subscribers", self.subscribers)
        if self.layers > 0 { json.member("layers", self.layers) }
        json.member("values", self.values)
        json.member("errors", self.errors)
        json.member("valueDate", self.valueDate)
        json.member("errorDate", self.errorDate)
      }
    }
  }

  extension OperationPath {
    /// The elements as texts, those that are secret as the names of their types.
    var shownElements: [String] {
      self.map { element in
        element.base is any OperationSecret
          ? "‹\(type(of: element.base))›" : ShownText.of(value: element.base, otherwise: element.description)
      }
    }
  }
#endif
