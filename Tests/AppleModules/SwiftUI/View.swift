@_exported public import Foundation

/// view: a type whose original declaration conforms to it is isolated to the main actor.
@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View

  @ViewBuilder @MainActor @preconcurrency
  var body: Self.Body { get }
}

extension Never: View {
  public var body: Never { leftOut() }
}

extension View where Body == Never {
  public var body: Never { leftOut() }
}

extension Optional: View where Wrapped: View {}

/// view/frame(minwidth:idealwidth:maxwidth:minheight:idealheight:maxheight:alignment:), view/disabled(_:),
/// view/navigationtitle(_:)
extension View {
  nonisolated public func frame(
    minWidth: CGFloat? = nil,
    idealWidth: CGFloat? = nil,
    maxWidth: CGFloat? = nil,
    minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil,
    maxHeight: CGFloat? = nil,
    alignment: Alignment = .center
  ) -> some View { EmptyView() }

  nonisolated public func disabled(_ disabled: Bool) -> some View { EmptyView() }

  nonisolated public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { EmptyView() }
}

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
