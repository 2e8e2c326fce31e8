#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationEvents
  internal import OperationFoundation

  extension LiveFeed {
    func answer(_ request: FeedRequest) async -> FeedAnswer {
      switch (request.method, request.path) {
      case ("GET", "/api/hello"): return .json(self.hello)
      case ("GET", "/api/stores"): return .json(self.allRows)
      case ("GET", "/api/explanation"): return self.withStore(request) { $0.explanationJSON(id: $1) }
      case ("GET", "/api/value"):
        return self.withStore(request) { $0.valueJSON(id: $1, allowsActions: self.allowsActions) }
      case ("GET", "/api/waits"): return .json(self.waits)
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

    /// What waits for what, and the explanations of the stores, of a thousand at most.
    var explanations: [String] {
      [self.waits] + self.knownIDs.prefix(1000).compactMap { id in self.store(id)?.explanationJSON(id: id) }
    }

    /// The runs of the client and the operations of the schedulers that the page shows, with what they wait for, as a message.
    private var waits: String {
      let graphs = [self.client.waitGraph()] + self.exhibits.graphs
      return JSONText.object { json in
        json.member("type", "waits")
        json.member("date", Date())
        json.key("graphs")
        json.array { json in
          for graph in graphs { json.value(graph) }
        }
      }
    }
  }

  extension JSONText {
    /// Writes the calls of a mutation with their arguments, of which what is secret is left out.
    fileprivate mutating func calls(_ calls: [KeptCall]) {
      self.key("calls")
      self.array { json in
        for call in calls.prefix(100) {
          json.object { json in
            json.member("run", "\(call.task)")
            json.member("date", call.start)
            json.member("status", !call.hasEnded ? "running" : call.error == nil ? "success" : "failure")
            json.member("error", call.error.map { ShownText.of($0) })
            json.key("arguments")
            json.value(ValueNode(call.arguments))
          }
        }
      }
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
        json.member("kind", explanation.kind)
        json.key("lines")
        json.value(explanation.description.split(separator: "\n").map(String.init))
        json.key("modifiers")
        json.value(explanation.modifiers)
      }
    }

    /// The value of the store as a tree, and as JSON if it can be set, with the calls of a mutation.
    func valueJSON(id: Int, allowsActions: Bool) -> String {
      let state = self.state
      let node = ValueNode(state.currentValue)
      return JSONText.object { json in
        json.member("store", id)
        json.key("value")
        json.value(node)
        if let state = state.base as? any CallKeepingState { json.calls(state.keptCalls) }
        if allowsActions { json.member("editable", state.editableText) }
      }
    }
  }
#endif
