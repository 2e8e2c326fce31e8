#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationFoundation

  extension LiveFeed {
    func answer(_ request: FeedRequest) async -> FeedAnswer {
      switch (request.method, request.path) {
      case ("GET", "/api/hello"): return .json(self.hello)
      case ("GET", "/api/stores"): return .json(self.allRows)
      case ("GET", "/api/explanation"): return self.withStore(request) { $0.explanationJSON(id: $1) }
      case ("GET", "/api/value"):
        return self.withStore(request) { $0.valueJSON(id: $1, allowsActions: self.allowsActions) }
      case ("GET", "/api/recording"): return .lines(self.recording)
      case ("POST", "/api/action"):
        guard self.allowsActions else {
          return .forbidden("Actions are off: see the parameter allowsActions of Devtools.")
        }
        return await self.perform(request.body)
      default: return .unknown
      }
    }

    private func withStore(_ request: FeedRequest, _ answer: (OpaqueOperationStore, Int) -> String) -> FeedAnswer {
      guard let id = request.query["store"].flatMap({ Int($0) }), let store = self.store(id) else { return .unknown }
      return .json(answer(store, id))
    }

    /// What happened lately, as the lines of a recording.
    private var recording: String {
      (self.beginning + self.explanations).map { $0 + "\n" }.joined()
    }

    /// The explanations of the stores, of a thousand at most.
    var explanations: [String] {
      self.knownIDs.prefix(1000).compactMap { id in self.store(id)?.explanationJSON(id: id) }
    }
  }

  extension OpaqueOperationStore {
    /// The explanation of the store, in lines, as a message.
    func explanationJSON(id: Int) -> String {
      let explanation = self.explain()
      return JSONText.object { json in
        json.member("type", "explanation")
        json.member("store", id)
        json.member("date", Date())
        json.member("kind", self.operationKind)
        json.key("lines")
        json.value(explanation.description.split(separator: "\n").map(String.init))
        json.key("modifiers")
        json.value(explanation.modifiers)
      }
    }

    /// The value of the store as a tree, and as JSON if it can be set.
    func valueJSON(id: Int, allowsActions: Bool) -> String {
      let state = self.state
      let node = ValueNode(state.currentValue)
      return JSONText.object { json in
        json.member("store", id)
        json.key("value")
        json.value(node)
        if allowsActions, !node.hasSecret { json.member("editable", state.editableText) }
      }
    }
  }
#endif
