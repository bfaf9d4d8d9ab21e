//! A file of C++, and its symbols.

pub(super) const TEXT: &str = r#"
#include <vector>
#include "view.hpp"
#define LIMIT 10

using namespace std;
using Names = std::vector<Name>;

namespace views {
namespace detail::inner { struct Hidden; }

constexpr int kDepth = 3;

/// A view.
template <typename T, class Allocator = std::allocator<T>>
class View final : public Base<T>, private detail::Mixin {
public:
    static constexpr int kMax = 64;
    enum class Level : char { Low, High };

    explicit View(const Spec &spec, int depth = kDepth);
    virtual ~View() = default;
    View &operator=(const View &other) = delete;
    bool operator==(const View &other) const noexcept;
    operator bool() const { return isShown(); }

    auto size() const -> std::size_t { return parts_.size() + count_of(*this); }
    [[nodiscard]] const std::string &name() const override;
    template <typename U> void add(U &&part) { parts_.push_back(std::forward<U>(part)); }
    struct Node { Node *next; };
    friend void swap(View &a, View &b);

private:
    std::vector<Part> parts_;
    int (*callback_)(int);
};

template <typename T>
concept Shown = requires(T value) { value.show(); };
}  // namespace views

template <typename T>
views::View<T>::View(const Spec &spec, int depth) : Base<T>(spec), parts_(makeParts(spec)) {}

const std::string &views::View<int>::name() const {
    auto found = std::find_if(begin(), end(), [&](const auto &part) { return part.isNamed(); });
    for (const auto &[key, value] : table) use(value);
    return found->name();
}

namespace {
Level helper(std::unique_ptr<Part> part) { return static_cast<Level>(part->level()); }
}

extern "C" int main(int argc, char **argv) { return run(new views::App(argc)); }
"#;

pub(super) const SYMBOLS: &str = r#"
import <vector>
import "view.hpp"
Constant LIMIT = 10
Type Names = std::vector<Name>
Module views
  Module detail::inner
  Constant kDepth : constexpr int = 3
  Class View final : public Base<T>, private detail::Mixin
    Constant kMax : constexpr int = 64
    Enum Level : char { Low, High }
    Function View (const Spec &spec, int depth = kDepth)
    Function ~View ()
    Function operator= (const View &other) -> View &
    Function operator== (const View &other) const noexcept -> bool
    Function operator bool() const
    Function size () const -> std::size_t
    Function name () const override -> const std::string &
    Function add <typename U>(U &&part)
    Class Node
    Function swap (View &a, View &b)
  Trait Shown <typename T> = requires(T value) { value.show(); }
Function views::View::View <typename T>(const Spec &spec, int depth)
Function views::View::name () const -> const std::string &
Function helper (std::unique_ptr<Part> part) -> Level
Function main (int argc, char **argv) -> int
"#;
