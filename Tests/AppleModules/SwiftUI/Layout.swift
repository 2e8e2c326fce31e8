/// emptyview
public struct EmptyView: View {
  public typealias Body = Never

  nonisolated public init() {}
}

/// group
public struct Group<Content> {}

extension Group: View where Content: View {
  public typealias Body = Never

  nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// vstack
public struct VStack<Content: View>: View {
  public typealias Body = Never

  nonisolated public init(
    alignment: HorizontalAlignment = .center,
    spacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) {}
}

/// lazyvstack
public struct LazyVStack<Content: View>: View {
  public typealias Body = Never

  nonisolated public init(
    alignment: HorizontalAlignment = .center,
    spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(),
    @ViewBuilder content: () -> Content
  ) {}
}

/// scrollview
public struct ScrollView<Content: View>: View {
  public typealias Body = Never

  nonisolated public init(
    _ axes: Axis.Set = .vertical,
    showsIndicators: Bool = true,
    @ViewBuilder content: () -> Content
  ) {}
}

/// form
public struct Form<Content: View>: View {
  public typealias Body = Never

  nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// foreach
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {}

extension ForEach: View where Content: View {
  public typealias Body = Never
}

extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
  nonisolated public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}

/// alignment, horizontalalignment, axis/set, pinnedscrollableviews
public struct Alignment: Equatable, Sendable {
  public static let center = Alignment()
  public static let leading = Alignment()
}

public struct HorizontalAlignment: Equatable, Sendable {
  public static let center = HorizontalAlignment()
}

public enum Axis {
  public struct Set: OptionSet, Sendable {
    public let rawValue: Int8

    public static let vertical = Set(rawValue: 2)

    public init(rawValue: Int8) { self.rawValue = rawValue }
  }
}

public struct PinnedScrollableViews: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }
}
