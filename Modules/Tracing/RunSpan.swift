#if SwiftOperationTracing
  internal import OperationCore
  internal import Tracing

  /// The span of a run, and what is written into it.
  struct RunSpan: Sendable {
    let span: any Span

    /// Takes over a span that has just been made, for a run in a context.
    init(_ span: any Span, _ context: OperationContext) {
      self.span = span
      if let task = context.operationRunningTaskIdentifier {
        span.attributes["operation.task"] = "\(task)"
      }
      span.addEvent(SpanEvent(name: "attempt", attributes: ["operation.attempt": .number(of: context)]))
    }

    /// The run goes on with another attempt.
    func attemptBegan(_ context: OperationContext, after error: any Error) {
      self.span.addEvent(
        SpanEvent(
          name: "attempt",
          attributes: ["operation.attempt": .number(of: context), "error.type": .type(of: error)]
        )
      )
    }

    /// The run has ended.
    func end(with error: (any Error)? = nil) {
      let isCancellation = error?.endsCancelledRun ?? false
      let outcome = error == nil ? "success" : isCancellation ? "cancellation" : "failure"
      self.span.attributes["operation.outcome"] = outcome
      if let error, !isCancellation {
        self.span.attributes.set("error.type", value: .type(of: error))
        self.span.setStatus(SpanStatus(code: .error))
      }
      self.span.end()
    }
  }

  extension SpanAttribute {
    fileprivate static func number(of context: OperationContext) -> SpanAttribute {
      .int64(Int64(context.operationAttempt))
    }

    /// The type of an error. Its text is a value of the user.
    fileprivate static func type(of error: any Error) -> SpanAttribute {
      .string(String(reflecting: Swift.type(of: error)))
    }
  }
#endif
