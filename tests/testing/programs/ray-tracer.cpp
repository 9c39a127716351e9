// A ray tracer with spheres: tiles from an atomic counter, statistics of hits by sphere in a shared vector, and a progress count. Wrong: the hits of a tile are merged without the lock.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
struct Vec {
    double x = 0, y = 0, z = 0;
    Vec operator+(Vec o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(Vec o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double f) const { return {x * f, y * f, z * f}; }
    double dot(Vec o) const { return x * o.x + y * o.y + z * o.z; }
    Vec unit() const { return *this * (1 / std::sqrt(dot(*this))); }
};
struct Sphere { Vec centre; double radius; Vec colour; };
struct Scene {
    std::vector<Sphere> spheres{{{0, 0, 5}, 1, {1, 0, 0}}, {{1, 1, 6}, 1, {0, 1, 0}}, {{-1, -1, 4}, 0.5, {0, 0, 1}}};
    Vec light = Vec{1, 1, -1}.unit();
    int hit(Vec origin, Vec direction, double &distance) const
    {
        int nearest = -1;
        for (size_t i = 0; i < spheres.size(); i++) {
            Vec to = spheres[i].centre - origin;
            double b = to.dot(direction), d = b * b - to.dot(to) + spheres[i].radius * spheres[i].radius;
            if (d < 0) continue;
            double t = b - std::sqrt(d);
            if (t > 1e-4 && (nearest < 0 || t < distance)) nearest = int(i), distance = t;
        }
        return nearest;
    }
};
struct Renderer {
    static constexpr int width = 24, height = 16, tile = 8;
    const Scene &scene;
    std::vector<Vec> pixels = std::vector<Vec>(width * height);
    std::vector<long> hits = std::vector<long>(3);
    std::mutex mutex;
    std::atomic<int> next{0};
    int finished = 0;
    explicit Renderer(const Scene &scene) : scene(scene) {}
    void tile_at(int x0, int y0)
    {
        std::vector<long> own(3);
        for (int y = y0; y < y0 + tile; y++)
            for (int x = x0; x < x0 + tile; x++) {
                Vec direction = Vec{(x - width / 2.0) / width, (y - height / 2.0) / height, 1}.unit();
                double distance = 0;
                int at = scene.hit({}, direction, distance);
                if (at < 0) continue;
                own[at]++;
                Vec point = direction * distance;
                Vec normal = (point - scene.spheres[at].centre).unit();
                pixels[y * width + x] = scene.spheres[at].colour * std::fmax(0.1, normal.dot(scene.light));
            }
#ifdef RIGHT
        std::lock_guard<std::mutex> guard(mutex);
        for (int i = 0; i < 3; i++) hits[i] += own[i];
#else
        for (int i = 0; i < 3; i++) hits[i] += own[i];
        std::lock_guard<std::mutex> guard(mutex);
#endif
        finished++;
    }
    void work()
    {
        const int across = width / tile, all = across * (height / tile);
        for (int at; (at = next++) < all;) tile_at(at % across * tile, at / across * tile);
    }
};
int main()
{
    Scene scene;
    Renderer renderer(scene);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(&Renderer::work, &renderer);
    for (auto &thread : threads) thread.join();
    long lit = 0, hits = 0;
    for (Vec pixel : renderer.pixels) lit += pixel.dot(pixel) > 0;
    for (long each : renderer.hits) hits += each;
    std::printf("%ld of %zu pixels\n", lit, renderer.pixels.size());
    if (hits != lit) { std::fprintf(stderr, "error: %ld hits and %ld pixels\n", hits, lit); return 1; }
}
