#if SwiftOperationDevtools
  /// Answers the requests of pages.
  struct PageAnswers: Sendable {
    let feed: any Feed
    let guardian: RequestGuard

    /// Refuses a request by its head.
    func admit(_ request: PageRequest) throws(PageRefusal) {
      let claims = RequestGuard.Claims(
        method: request.method,
        path: request.path,
        host: request.fields["host"],
        origin: request.fields["origin"],
        site: request.fields["sec-fetch-site"],
        isNavigation: request.fields["sec-fetch-mode"] == "navigate" && request.fields["sec-fetch-dest"] == "document",
        authorization: request.fields["authorization"],
        queryToken: request.query["token"]
      )
      if case .refused(let status, let reason) = self.guardian.judge(claims) { throw PageRefusal(status, reason) }
    }

    /// A file of the page; nil if the feed is to be asked.
    func file(for request: PageRequest) -> PageResponse? {
      guard request.method == "GET" else { return nil }
      return PageFile.all[request.path].map { PageResponse($0.text, type: $0.type) }
    }

    /// What the feed answers.
    func answer(_ request: PageRequest) async -> PageResponse {
      if request.method == "GET", request.path == "/api/events" {
        return PageResponse(events: await self.feed.connect())
      }
      let question = FeedRequest(
        method: request.method,
        path: request.path,
        query: request.query,
        body: request.body
      )
      switch await self.feed.answer(question) {
      case .json(let text): return PageResponse(text, type: "application/json")
      case .lines(let text): return PageResponse(text, type: "application/x-ndjson")
      case .unknown: return PageResponse(PageRefusal(404, "There is nothing here."))
      case .forbidden(let reason): return PageResponse(PageRefusal(403, reason))
      case .wrong(let reason): return PageResponse(PageRefusal(400, reason))
      }
    }
  }
#endif
