/// localizedstringkey
public struct LocalizedStringKey: ExpressibleByStringInterpolation {
  public init(_ value: String) {}

  public init(stringLiteral value: String) {}
}

/// text: the conformance is in an extension, which leaves the type without isolation.
public struct Text: Equatable, Sendable {
  public init(_ key: LocalizedStringKey) {}

  @_disfavoredOverload
  public init<S: StringProtocol>(_ content: S) {}
}

extension Text: View {
  public typealias Body = Never
}

/// button
public struct Button<Label: View>: View {
  public typealias Body = Never

  @preconcurrency
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}

/// button/init(_:action:)
extension Button where Label == Text {
  @preconcurrency
  nonisolated public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {}

  @_disfavoredOverload @preconcurrency
  nonisolated public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
}

/// textfield/init(_:text:)
public struct TextField<Label: View>: View {
  public typealias Body = Never
}

extension TextField where Label == Text {
  nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

/// progressview/init()
public struct ProgressView<Label: View, CurrentValueLabel: View>: View {
  public typealias Body = Never
}

extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
  nonisolated public init() {}
}
