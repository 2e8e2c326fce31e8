#if SwiftOperationTracing
  internal import OperationCore
  internal import Tracing

  /// Adds the notices of a run to its span.
  final class SpanNotices: OperationNoticeObserver {
    private let span: any Span

    init(_ span: any Span) {
      self.span = span
    }

    func receive(_ notice: OperationNotice, in context: OperationContext) {
      guard notice.level == nil else { return }
      // The path is left out, because it may contain user data.
      var attributes = SpanAttributes(notice.attributes.mapValues(\.spanAttribute))
      if let name = notice.operationName { attributes["operation.name"] = name }
      self.span.addEvent(SpanEvent(name: notice.name.description, attributes: attributes))
    }
  }

  extension OperationContext {
    /// Adds notices to a span, in place of the span of an outer run.
    mutating func addNotices(to span: any Span) {
      guard span.isRecording else { return }
      self.observeNotices(with: SpanNotices(span)) { $0 is SpanNotices }
    }
  }

  extension OperationNotice.Value {
    /// The value as an attribute; durations in seconds.
    fileprivate var spanAttribute: SpanAttribute {
      switch self {
      case .string(let text): .string(text)
      case .integer(let number): .int64(Int64(number))
      case .number(let number): .double(number)
      case .duration(let duration): .double(duration / .seconds(1))
      case .flag(let flag): .bool(flag)
      }
    }
  }
#endif
