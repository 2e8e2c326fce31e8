#if SwiftOperationTracing
  internal import OperationCore
  internal import Tracing

  /// The span of a run.
  struct RunSpan: Sendable {
    let span: any Span

    /// Wraps a span that has just been created for a run.
    init(_ span: any Span, _ context: OperationContext) {
      self.span = span
      if let task = context.operationRunningTaskIdentifier {
        span.attributes["operation.task"] = "\(task)"
      }
      if let cause = context.operationRunCause {
        // Without the subject, which may contain user data.
        span.attributes["operation.cause"] = cause.kind.description
        if let name = cause.invalidatingOperation { span.attributes["operation.invalidated_by"] = name }
      }
      span.addEvent(SpanEvent(name: "attempt", attributes: ["operation.attempt": .number(of: context)]))
    }

    /// Adds an event for another attempt of the run. The error is nil if the attempt before has not failed.
    func attemptBegan(_ context: OperationContext, after error: (any Error)?) {
      var attributes: SpanAttributes = ["operation.attempt": .number(of: context)]
      if let error { attributes.set("error.type", value: .type(of: error)) }
      self.span.addEvent(SpanEvent(name: "attempt", attributes: attributes))
    }

    /// Ends the span with the outcome of the run.
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

    /// The type of an error. The text is omitted, because it may contain user data.
    fileprivate static func type(of error: any Error) -> SpanAttribute {
      .string(ShownText.typeName(of: error))
    }
  }
#endif
